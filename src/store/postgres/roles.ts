/** The least rights: for processes that plan and buy, and for people and programs that only read. */
export const roles = `-- Roles belong to all databases of a server: another queue may have brought them.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'rankline_worker') THEN CREATE ROLE rankline_worker; END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'rankline_reader') THEN CREATE ROLE rankline_reader; END IF;
END
$$;

-- Those who run rankline run, worker and sync: they change rows, and no tables.
GRANT USAGE ON SCHEMA rankline TO rankline_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA rankline TO rankline_worker;
REVOKE INSERT, UPDATE, DELETE ON rankline.version FROM rankline_worker;

-- Those who look at rankline queue status.
GRANT USAGE ON SCHEMA rankline TO rankline_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA rankline TO rankline_reader;

-- Tables of later versions, where the same user lays them out.
ALTER DEFAULT PRIVILEGES IN SCHEMA rankline GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO rankline_worker;
ALTER DEFAULT PRIVILEGES IN SCHEMA rankline GRANT SELECT ON TABLES TO rankline_reader;

-- Then for each user that logs in: GRANT rankline_worker TO its_name;
`
