-- name: searchable
-- Documents that have text, each as it was read last.
SELECT DISTINCT ON (d.sha256) d.text_ref, d.language,
       EXISTS (SELECT 1 FROM reprise.entries e WHERE e.matter = r.matter AND e.text_ref = d.text_ref) AS indexed
  FROM reprise.run_document d JOIN reprise.runs r USING (run_id)
 WHERE r.matter = %(matter)s AND (%(thread_id)s = '' OR r.thread_id = %(thread_id)s)
   AND d.state = 'done' AND d.text_ref <> ''
 ORDER BY d.sha256, r.started_at DESC, d.ordinal

-- name: not_searchable
-- Documents, by name, of which no run has the text.
SELECT count(*) AS n
  FROM (SELECT d.document FROM reprise.run_document d JOIN reprise.runs r USING (run_id)
         WHERE r.matter = %(matter)s AND (%(thread_id)s = '' OR r.thread_id = %(thread_id)s)
         GROUP BY d.document HAVING NOT bool_or(d.state = 'done' AND d.text_ref <> '')) unread

-- name: matters
SELECT matter FROM reprise.runs GROUP BY matter ORDER BY max(started_at) DESC LIMIT 20

-- name: index_text
INSERT INTO reprise.entries (matter, text_ref, start, stop, page, language, stems)
SELECT %(matter)s, %(text_ref)s, e.start, e.stop, e.page, e.language, e.stems
  FROM reprise.stemmed(%(language)s, %(starts)s::int[], %(stops)s::int[], %(on_pages)s::int[], %(words)s::text[]) e
 -- Not for a run that was purged meanwhile.
 WHERE EXISTS (SELECT 1 FROM reprise.run_document d JOIN reprise.runs r USING (run_id)
                WHERE r.matter = %(matter)s AND d.text_ref = %(text_ref)s)
ON CONFLICT (matter, text_ref, start) DO NOTHING

-- name: questions
SELECT language, query::text AS query FROM reprise.questions(%(wanted)s, %(bare)s, %(unwanted)s)

-- name: search
WITH texts AS (
    SELECT DISTINCT ON (d.sha256) d.text_ref, d.facts_ref, d.document, d.sha256, d.supplier, d.unit, r.thread_id
      FROM reprise.run_document d JOIN reprise.runs r USING (run_id)
     WHERE r.matter = %(matter)s AND (%(thread_id)s = '' OR r.thread_id = %(thread_id)s)
       AND d.state = 'done' AND d.text_ref <> ''
     ORDER BY d.sha256, r.started_at DESC, d.ordinal
), found AS (
    SELECT e.text_ref, e.start, e.stop, e.page, e.language,
           ts_rank_cd(e.stems, CASE e.language WHEN 'fr' THEN %(french)s::tsquery WHEN 'en' THEN %(english)s::tsquery
                                               ELSE %(other)s::tsquery END, 1) AS rank
      FROM reprise.entries e
     WHERE e.matter = %(matter)s
       AND (e.stems @@ %(french)s::tsquery AND e.language = 'fr'
            OR e.stems @@ %(english)s::tsquery AND e.language = 'en'
            OR e.stems @@ %(other)s::tsquery AND e.language = '')
)
SELECT *, count(*) OVER () AS total, max(place) OVER () AS documents
  FROM (SELECT *, dense_rank() OVER (ORDER BY text_ref) AS place FROM found JOIN texts USING (text_ref)) numbered
 ORDER BY rank DESC, document, start LIMIT %(limit)s

-- name: marks
-- The words of a question in some texts, each set between « and ».
SELECT ts_headline(reprise.stemmer(t.language), t.words, q.query, 'StartSel=«, StopSel=», HighlightAll=true') AS marked
  FROM unnest(%(languages)s::text[], %(texts)s::text[]) WITH ORDINALITY AS t (language, words, place)
  JOIN reprise.questions(%(wanted)s, %(bare)s, '') q USING (language)
 ORDER BY t.place
