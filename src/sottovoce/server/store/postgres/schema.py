"""The tables in PostgreSQL, and how a place in the journal is made.

Reports that a web process writes together come into `groups`, one row for all of them, where nobody orders them:
transactions end in another order than they begin, so no number that a web process could give would be one to read by.
The elected learner moves them into the `journal`, a row for each, and gives each its place. A place is the day times
`PLACES` plus a number within the day, so that each day has a partition of its own, places grow, and old days are
dropped as a whole.
"""

from sottovoce.server.store.migrations import Migration

PLACES = 2**32
"""Places of one day."""

FIRST = """
CREATE TABLE format (number integer NOT NULL, oldest integer NOT NULL);
INSERT INTO format VALUES (0, 0);
CREATE TABLE secrets (name text PRIMARY KEY, value bytea NOT NULL);
CREATE TABLE tasks (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, contract bytea NOT NULL,
  mode text NOT NULL, paused boolean NOT NULL DEFAULT false, prediction bytea NOT NULL DEFAULT ''
);
CREATE TABLE counts (task integer PRIMARY KEY, reports bigint NOT NULL, warm bigint NOT NULL);
CREATE TABLE history (
  task integer NOT NULL, hour integer NOT NULL, verdict text NOT NULL, reports bigint NOT NULL,
  PRIMARY KEY (task, hour, verdict)
);
CREATE TABLE ids (task integer NOT NULL, id bytea NOT NULL, day integer NOT NULL, PRIMARY KEY (task, id));
CREATE TABLE inbox (
  arrival bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, task integer NOT NULL, id bytea NOT NULL,
  day integer NOT NULL, gate smallint NOT NULL, context bytea NOT NULL, payload bytea NOT NULL, hour integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
CREATE TABLE journal (
  seq bigint PRIMARY KEY, task integer NOT NULL, id bytea NOT NULL, day integer NOT NULL, gate smallint NOT NULL,
  context bytea NOT NULL, payload bytea NOT NULL
) PARTITION BY RANGE (seq);
CREATE INDEX of_task ON journal (task, seq);
CREATE TABLE places (last bigint NOT NULL);
INSERT INTO places VALUES (0);
CREATE TABLE leader (epoch bigint PRIMARY KEY, until timestamptz NOT NULL);
INSERT INTO leader VALUES (0, '-infinity');
CREATE TABLE publications (
  task integer NOT NULL, learned bigint NOT NULL, version text NOT NULL, body bytea NOT NULL, memo bytea NOT NULL,
  superseded bigint NOT NULL, PRIMARY KEY (task, learned, version)
);
CREATE TABLE snapshots (
  task integer NOT NULL, seq bigint NOT NULL, learned bigint NOT NULL, published bigint NOT NULL, base boolean NOT NULL,
  day integer NOT NULL, state bytea NOT NULL, PRIMARY KEY (task, seq)
);
CREATE TABLE gaps (
  task integer NOT NULL, after_seq bigint NOT NULL, until_seq bigint NOT NULL, reports bigint NOT NULL,
  PRIMARY KEY (task, after_seq)
);
CREATE TABLE unread (task integer NOT NULL, seq bigint NOT NULL, error text NOT NULL, PRIMARY KEY (task, seq));
CREATE TABLE actions (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, time bigint NOT NULL, token text NOT NULL, role text NOT NULL,
  action text NOT NULL, task text NOT NULL, detail bytea NOT NULL, status integer NOT NULL, address text NOT NULL
);
CREATE INDEX actions_of_task ON actions (task, number);
CREATE TABLE admitted (
  expires bigint NOT NULL, task integer NOT NULL, id bytea NOT NULL, PRIMARY KEY (expires, task, id)
);
CREATE TABLE news (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, task integer NOT NULL, body bytea NOT NULL);
CREATE TABLE wishes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea NOT NULL);
"""
"""What the learner tells is in `news`, what web processes ask of it in `wishes`."""

GROUPS = """
CREATE TABLE groups (
  arrival bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  reports integer NOT NULL, newest integer NOT NULL, hour integer NOT NULL,
  tasks integer[] NOT NULL CHECK (array_position(tasks, NULL) IS NULL),
  ids bytea[] NOT NULL CHECK (array_position(ids, NULL) IS NULL),
  days integer[] NOT NULL CHECK (array_position(days, NULL) IS NULL),
  gates smallint[] NOT NULL CHECK (array_position(gates, NULL) IS NULL),
  contexts bytea[] NOT NULL CHECK (array_position(contexts, NULL) IS NULL),
  payloads bytea[] NOT NULL CHECK (array_position(payloads, NULL) IS NULL)
) WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 2000,
  toast.autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE groups ALTER tasks SET STORAGE EXTERNAL, ALTER ids SET STORAGE EXTERNAL, ALTER days SET STORAGE EXTERNAL,
  ALTER gates SET STORAGE EXTERNAL, ALTER contexts SET STORAGE EXTERNAL, ALTER payloads SET STORAGE EXTERNAL;
CREATE FUNCTION keep(
  new_tasks integer[], new_ids bytea[], new_days integer[], new_gates smallint[], new_contexts bytea[],
  new_payloads bytea[], this_hour integer, some_known boolean
) RETURNS boolean[] LANGUAGE plpgsql AS $$
DECLARE
  fresh_ones boolean[];
BEGIN
  IF NOT some_known THEN
    BEGIN
      INSERT INTO ids SELECT * FROM unnest(new_tasks, new_ids, new_days);
      INSERT INTO groups (reports, newest, hour, tasks, ids, days, gates, contexts, payloads)
      SELECT cardinality(new_ids), max(day), this_hour, new_tasks, new_ids, new_days, new_gates, new_contexts,
        new_payloads
      FROM unnest(new_days) AS day;
      RETURN NULL;
    EXCEPTION WHEN unique_violation THEN
      NULL;
    END;
  END IF;
  WITH given AS (
    SELECT * FROM unnest(new_tasks, new_ids, new_days, new_gates, new_contexts, new_payloads)
    WITH ORDINALITY AS given (task, id, day, gate, context, payload, number)
  ), inserted AS (
    INSERT INTO ids SELECT task, id, day FROM given ORDER BY number ON CONFLICT DO NOTHING RETURNING task, id
  ), compared AS (
    SELECT given.*, inserted.id IS NOT NULL AS fresh FROM given LEFT JOIN inserted USING (task, id)
  ), kept AS (
    INSERT INTO groups (reports, newest, hour, tasks, ids, days, gates, contexts, payloads)
    SELECT count(*), max(day), this_hour, array_agg(task ORDER BY number), array_agg(id ORDER BY number),
      array_agg(day ORDER BY number), array_agg(gate ORDER BY number), array_agg(context ORDER BY number),
      array_agg(payload ORDER BY number)
    FROM compared WHERE fresh HAVING count(*) > 0
  )
  SELECT array_agg(fresh ORDER BY number) INTO fresh_ones FROM compared;
  RETURN fresh_ones;
END
$$;
"""
"""`newest` is the last of the days. `keep` keeps the reports whose ids are not known yet, and returns for each whether
it is one; NULL where all are. It first tries as if none was known, which is cheaper, unless it is told better. It
catches the error by itself where one was: PostgreSQL would log it, with the id and the time."""

MIGRATIONS = (
    Migration(7, 7, "The first tables.", (FIRST,)),
    Migration(8, 8, "A table for reports that were written together, and a function that writes them.", (GROUPS,)),
)
"""Up to 7 their numbers are those of the embedded store. Learners of format 7 would not find reports in `groups`, so
none is started any more. Web processes of it that still run write to the `inbox`, which the learner empties."""

KEEP = "SELECT keep(%b::integer[], %b::bytea[], %b::integer[], %b::smallint[], %b::bytea[], %b::bytea[], %s, {})"
APPEND, APPEND_KNOWN = KEEP.format("false"), KEEP.format("true")
"""One statement, one transaction. The second is for when some are probably known."""

GATHERED = 4096
GATHER = f"""
WITH taken AS (
  DELETE FROM inbox WHERE arrival IN (SELECT arrival FROM inbox ORDER BY arrival LIMIT {GATHERED}) RETURNING *
)
INSERT INTO groups (reports, newest, hour, tasks, ids, days, gates, contexts, payloads)
SELECT count(*), max(day), hour, array_agg(task ORDER BY arrival), array_agg(id ORDER BY arrival),
  array_agg(day ORDER BY arrival), array_agg(gate ORDER BY arrival), array_agg(context ORDER BY arrival),
  array_agg(payload ORDER BY arrival)
FROM taken GROUP BY hour ORDER BY hour
"""
"""What servers of format 7 have written, as a group. They wrote a row for each report."""

NEXT = """
SELECT max(newest), sum(reports)::bigint, max(arrival) FROM (
  SELECT *, sum(reports) OVER (ORDER BY arrival) - reports AS earlier
  FROM (SELECT arrival, newest, reports FROM groups ORDER BY arrival LIMIT %s) AS first
) AS counted WHERE earlier < %s
"""
"""The first groups that hold at least so many reports, or all."""
ORDER = """
WITH gone AS (
  DELETE FROM groups WHERE arrival <= %s RETURNING *
), taken AS (
  SELECT arrival, hour, report.* FROM gone, unnest(tasks, ids, days, gates, contexts, payloads)
  WITH ORDINALITY AS report (task, id, day, gate, context, payload, number)
), counted AS (
  INSERT INTO counts SELECT task, count(*) FILTER (WHERE gate >= 0), count(*) FILTER (WHERE gate < 0)
  FROM taken GROUP BY task
  ON CONFLICT (task) DO UPDATE SET reports = counts.reports + excluded.reports, warm = counts.warm + excluded.warm
), told AS (
  INSERT INTO history SELECT task, hour, 'accepted', count(*) FROM taken WHERE gate >= 0 GROUP BY task, hour
  ON CONFLICT (task, hour, verdict) DO UPDATE SET reports = history.reports + excluded.reports
)
INSERT INTO journal
SELECT %s + row_number() OVER (ORDER BY arrival, number), task, id, day, gate, context, payload FROM taken
"""
"""Moves groups into the journal, and counts their reports."""
