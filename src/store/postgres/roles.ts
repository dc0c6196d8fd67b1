/** The least rights: for processes that plan and buy, and for people and programs that only read. */
export const roles = `-- Those who run rankline run, worker and sync: they change rows, and no tables.
CREATE ROLE rankline_worker;
GRANT USAGE ON SCHEMA rankline TO rankline_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA rankline TO rankline_worker;
REVOKE INSERT, UPDATE, DELETE ON rankline.version FROM rankline_worker;

-- Those who look at rankline queue status.
CREATE ROLE rankline_reader;
GRANT USAGE ON SCHEMA rankline TO rankline_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA rankline TO rankline_reader;

-- GRANT rankline_worker TO a user that can log in.
`
