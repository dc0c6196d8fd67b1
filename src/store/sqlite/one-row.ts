/**
 * Begin a statement that changes one row of a table with triggers. Where it fails it has changed nothing: told so, SQLite
 * does not copy every page that it changes, to be able to take back a part.
 */
export const updateOne = 'UPDATE OR FAIL'
export const insertOne = 'INSERT OR FAIL'
