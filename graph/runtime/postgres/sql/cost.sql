-- name: cost_levels
-- By step, by step, tool and model, by document; level says which. Latencies are of answered calls, without the time
-- that they waited for their turn; the rate is per second in which at least one call was under way.
SELECT CASE WHEN grouping(c.document) = 0 THEN 'document' WHEN grouping(c.model) = 0 THEN 'model' ELSE 'step' END AS level,
       c.step, c.tool, c.model, c.document,
       count(*) FILTER (WHERE c.state <> 'reused') AS calls,
       count(*) FILTER (WHERE c.state = 'reused') AS reused,
       count(*) FILTER (WHERE c.state = 'lost_answer') AS lost,
       count(*) FILTER (WHERE c.state IN ('failed', 'abandoned')) AS failed,
       count(*) FILTER (WHERE c.basis = 'unknown') AS unpriced,
       coalesce(bool_or(c.basis = 'estimated' AND c.usd > 0), false) AS estimated,
       coalesce(sum(c.tokens_in), 0) AS tokens_in,
       coalesce(sum(c.tokens_cached), 0) AS tokens_cached,
       coalesce(sum(c.tokens_out), 0) AS tokens_out,
       coalesce(sum(c.usd), 0) AS usd,
       coalesce(sum(c.avoided_usd), 0) AS avoided_usd,
       count(*) FILTER (WHERE c.state = 'completed')::float
           / nullif(count(*) FILTER (WHERE c.state NOT IN ('reused', 'running')), 0) AS success_rate,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY t.seconds) FILTER (WHERE c.state = 'completed') AS median_seconds,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY t.seconds) FILTER (WHERE c.state = 'completed') AS p95_seconds,
       (SELECT count(*) FILTER (WHERE c.state NOT IN ('reused', 'running'))
               / nullif(sum(extract(epoch FROM upper(r) - lower(r))), 0)
          FROM unnest(range_agg(tstzrange(c.started_at, c.finished_at))
               FILTER (WHERE c.state <> 'reused' AND c.finished_at > c.started_at)) AS r)::float AS calls_per_second
  FROM reprise.calls c,
       LATERAL (SELECT (extract(epoch FROM c.finished_at - c.started_at) - c.waited_ms / 1000.0)::float AS seconds) t
 WHERE c.run_id = %(run_id)s
 GROUP BY GROUPING SETS ((c.step), (c.step, c.tool, c.model), (c.document))
 ORDER BY level, usd DESC, calls DESC, c.step, c.tool, c.model, c.document

-- name: latency
-- Of the answers of a tool and model in the past: what a call of it takes here.
SELECT count(*) AS n, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS median,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) AS p95
  FROM (SELECT (extract(epoch FROM finished_at - started_at) - waited_ms / 1000.0)::float AS seconds
          FROM reprise.calls WHERE state = 'completed' AND tool = %(tool)s AND model = %(model)s
         ORDER BY call_id DESC LIMIT 2000) newest

-- name: known_answers
SELECT call_key FROM reprise.answers
 WHERE matter = %(matter)s AND call_key = ANY(%(keys)s::text[]) AND state = 'completed'

-- name: keep_estimate
INSERT INTO reprise.estimates (matter, inputs, playbook_sha256, engine, estimate)
VALUES (%(matter)s, %(inputs)s, %(playbook_sha256)s, %(engine)s, %(estimate)s)
ON CONFLICT (matter, inputs, playbook_sha256, engine) DO UPDATE SET estimate = excluded.estimate, made_at = now()

-- name: estimate_of
SELECT e.estimate, e.made_at FROM reprise.estimates e JOIN reprise.runs r
    ON e.matter = r.matter AND e.inputs = r.artifacts->>'inputs' AND e.playbook_sha256 = r.playbook_sha256
   AND e.engine = r.engine
 WHERE r.run_id = %(run_id)s
