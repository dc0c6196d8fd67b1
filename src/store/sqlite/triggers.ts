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
    BEGIN ${delivered('SELECT NEW.id')} END`,

  /** Results are derived again: those of every task that the answer was for. */
  deliver_answer: `
    AFTER UPDATE OF normaliser ON answers_ WHEN OLD.normaliser IS NOT NULL
    BEGIN ${delivered("SELECT id FROM tasks_ WHERE answer_id = NEW.id AND state = 'done' ORDER BY id")} END`,

  /** A run goes on with an edited file: labels stand beside results. */
  deliver_labels: `
    AFTER UPDATE OF labels ON run_queries WHEN OLD.labels <> NEW.labels
    BEGIN ${delivered(`SELECT id FROM tasks_
      WHERE run_id = NEW.run_id AND query_id = NEW.query_id AND state = 'done' ORDER BY id`)} END`,

  /** While a call is in the air there is nothing to tell. */
  deliver_new_call: `
    AFTER INSERT ON calls_ WHEN NEW.outcome IS NOT NULL
    BEGIN INSERT INTO call_deliveries (call_id) VALUES (NEW.id); END`,

  /** A call ended, or more became known of it. */
  deliver_call: `
    AFTER UPDATE ON calls_
    BEGIN
      DELETE FROM call_deliveries WHERE call_id = NEW.id;
      INSERT INTO call_deliveries (call_id) VALUES (NEW.id);
    END`,

  /** A run that goes on observes more: what its ranks came to is void. */
  uncount_run: `
    AFTER UPDATE OF finished_at ON runs_ WHEN NEW.finished_at IS NULL
    BEGIN DELETE FROM counted_runs WHERE run_id = NEW.id; END`,
}

/** Gives tasks new numbers. Not by OR REPLACE, which a conflict clause of the statement outside would overrule. */
function delivered(tasks: string): string {
  return `
      DELETE FROM deliveries WHERE task_id IN (${tasks});
      INSERT INTO deliveries (task_id) ${tasks};`
}
