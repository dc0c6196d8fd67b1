/**
 * What keeps itself right when something is written: numbers of what can be exported, and the counts of ranks.
 *
 * Whoever exports what is new needs to know what came since the last time. No number of a task, call or answer says so:
 * an answer may be understood long after it was stored, or be used by several tasks, and results are derived again. So
 * what can be read gets a new number whenever it is stored or changed, in the same change: by triggers, which nothing
 * that writes into these tables can forget.
 */
export const triggers: Readonly<Record<string, string>> = {
  /** A task is done, or other pages of its query changed the ranks of its results. */
  deliver_task: `
    AFTER UPDATE OF state, rank_base, ranks ON tasks_
    WHEN NEW.state = 'done' AND (OLD.state <> 'done' OR OLD.rank_base <> NEW.rank_base OR OLD.ranks IS NOT NEW.ranks)
    BEGIN ${deliveredOne('deliveries', 'task_id')} END`,

  /** Results are derived again: those of every task that the answer was for. */
  deliver_answer: `
    AFTER UPDATE OF normaliser ON answers_ WHEN OLD.normaliser IS NOT NULL
    BEGIN ${deliveredTasks("SELECT id FROM tasks_ WHERE answer_id = NEW.id AND state = 'done' ORDER BY id")} END`,

  /** A run goes on with an edited file: labels stand beside results. */
  deliver_labels: `
    AFTER UPDATE OF labels ON run_queries WHEN OLD.labels <> NEW.labels
    BEGIN ${deliveredTasks(`SELECT id FROM tasks_
      WHERE run_id = NEW.run_id AND query_id = NEW.query_id AND state = 'done' ORDER BY id`)} END`,

  /** While a call is in the air there is nothing to tell. */
  deliver_new_call: `
    AFTER INSERT ON calls_ WHEN NEW.outcome IS NOT NULL
    BEGIN ${deliveredOne('call_deliveries', 'call_id')} END`,

  /** A call ended, or more became known of it. */
  deliver_call: `
    AFTER UPDATE ON calls_
    BEGIN ${deliveredOne('call_deliveries', 'call_id')} END`,

  /** A run that goes on observes more: what its ranks came to is void. */
  uncount_run: `
    AFTER UPDATE OF finished_at ON runs_ WHEN NEW.finished_at IS NULL
    BEGIN DELETE FROM counted_runs WHERE run_id = NEW.id; END`,
}

function deliveredOne(table: string, column: string): string {
  return delivered(table, column, '= NEW.id', 'VALUES (NEW.id)')
}

function deliveredTasks(tasks: string): string {
  return delivered('deliveries', 'task_id', `IN (${tasks})`, tasks)
}

/**
 * Gives new numbers. Not by OR REPLACE, which a conflict clause of the statement outside would overrule. Nothing of it can
 * fail, and OR IGNORE says so: otherwise SQLite would copy every page that the statement changes, to be able to take it back.
 */
function delivered(table: string, column: string, those: string, ids: string): string {
  return `
      DELETE FROM ${table} WHERE ${column} ${those};
      INSERT OR IGNORE INTO ${table} (${column}) ${ids};`
}
