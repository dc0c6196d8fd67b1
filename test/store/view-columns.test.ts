import { describe, expect, test } from 'vitest'
import { testTable } from '../support/test-table.ts'
import { aStore } from './build.ts'
import { rowsOf } from './rows-of.ts'

const result = `run_id job query operation engine gl hl location page fetched_at
  rank position title link domain site source snippet`
const ranking = `job query target operation gl hl location tags date observed_at
  state rank exactness depth url title run_id`

describe('the public views have the columns that were promised, in their order', () => {
  testTable<[string, string]>([
    [
      'runs',
      `run_id job started_at finished_at finish_reason tasks_planned tasks_done
        tasks_failed credits_spent credits_ambiguous`,
    ],
    ['tasks', 'task_id run_id query operation page state cause'],
    [
      'calls',
      'call_id run_id task_id operation sent_at finished_at http_status outcome billed credits latency_ms error',
    ],
    [
      'answers',
      `run_id job query operation page fetched_at total_results time_taken notice
        has_next_page next_page search_parameters knowledge_graph ai_markdown ai_blocks`,
    ],
    ['organic_results', `${result} displayed_link snippet_matched params`],
    ['news_results', `${result} date published_at params`],
    ['video_results', `${result} date published_at channel duration duration_seconds video_id params`],
    ['image_results', `${result} image_url thumbnail image_width image_height params`],
    ['ai_references', `${result} reference_index params`],
    ['suggestions', `${result} suggestion params`],
    ['related_searches', `${result} related_query params`],
    ['rankings', ranking],
    ['rank_changes', `${ranking} previous_date previous_state previous_rank change`],
    [
      'rankings_by_run',
      `job target date run_id queries ranked absent unknown estimated
        average_rank average_position top_1 top_3 top_10 top_20 top_50 top_100`,
    ],
    ['rank_counts', 'job target date run_id state rank exactness depth queries volume'],
    [
      'imported_rankings',
      `job query target gl hl location device engine tags volume date state rank rank_kind depth url reason
        repeats_possible source file import_id`,
    ],
    [
      'imported_answers',
      'job query gl hl location device engine date rank link results source file import_id',
    ],
    [
      'clicks',
      `property site query page country date until_date clicks impressions position counted_by source
        addition_id`,
    ],
  ])('%s', async (view, promised) => {
    const temp = await aStore()
    const columns = promised.split(/\s+/)
    const names = rowsOf(temp, `SELECT name FROM pragma_table_info('${view}') ORDER BY cid`)
    expect(names.map(({ name }) => name).slice(0, columns.length)).toEqual(columns)
    expect(rowsOf(temp, `SELECT * FROM ${view}`)).toEqual([])
  })

  test('and there are no others but the one that they are made of', async () => {
    const temp = await aStore()
    expect(rowsOf(temp, "SELECT name FROM sqlite_schema WHERE type = 'view'")).toHaveLength(19)
  })
})
