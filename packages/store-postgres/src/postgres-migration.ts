/**
 * Returns the SQL that creates the tables of `postgresStore`, if you run migrations yourself. It is
 * safe to run twice, and by several processes at once.
 * @throws RangeError if the name of the schema has other characters than letters, digits and `_`
 */
export function postgresMigration(schema = 'public'): string {
  const place = schemaName(schema)
  return `BEGIN;
SELECT pg_advisory_xact_lock(7235089412);
DO $migration$
BEGIN
-- The last index: with it, the migration is complete. CREATE INDEX IF NOT EXISTS would lock tables in use.
IF to_regclass('${place}.lamella_takes_order') IS NULL THEN
CREATE SCHEMA IF NOT EXISTS ${place};
CREATE TABLE IF NOT EXISTS ${place}.lamella_entries (
  key text COLLATE "C" PRIMARY KEY,
  text text,
  number double precision,
  expires_at double precision
);
CREATE INDEX IF NOT EXISTS lamella_entries_expiry ON ${place}.lamella_entries (expires_at)
  WHERE expires_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS ${place}.lamella_lists (
  list text COLLATE "C" PRIMARY KEY,
  expires_at double precision
);
CREATE TABLE IF NOT EXISTS ${place}.lamella_items (
  list text COLLATE "C",
  item text COLLATE "C",
  score double precision NOT NULL,
  PRIMARY KEY (list, item)
);
CREATE INDEX IF NOT EXISTS lamella_items_order ON ${place}.lamella_items (list, score, item);
CREATE TABLE IF NOT EXISTS ${place}.lamella_limits (
  key text COLLATE "C" PRIMARY KEY,
  total double precision NOT NULL,
  filled_at double precision NOT NULL,
  held double precision NOT NULL,
  held_until double precision NOT NULL,
  closed_until double precision NOT NULL,
  ends_at double precision NOT NULL
);
CREATE INDEX IF NOT EXISTS lamella_limits_end ON ${place}.lamella_limits (ends_at);
CREATE TABLE IF NOT EXISTS ${place}.lamella_takes (
  key text COLLATE "C",
  id text COLLATE "C",
  at double precision NOT NULL,
  amount double precision NOT NULL,
  PRIMARY KEY (key, id)
);
CREATE INDEX IF NOT EXISTS lamella_takes_order ON ${place}.lamella_takes (key, at);
END IF;
END
$migration$;
COMMIT;`
}

/** Quotes the name of a schema. */
export function schemaName(schema: string): string {
  if (/^[A-Za-z_]\w{0,62}$/.test(schema)) return `"${schema}"`
  throw new RangeError('postgresStore: `schema` must be letters, digits and `_`')
}
