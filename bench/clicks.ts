import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { measured } from './measured.ts'
import { grouped, machine, megabytes, print } from './print.ts'

/**
 * How fast tables of the bulk export of Search Console are added, and in how much memory: 16 months, with their days in no order, as BigQuery
 * writes them.
 *
 * Arguments: how many rows [10000000], then the tables [parquet site url].
 */

const rows = Number(process.argv[2] ?? 10_000_000)
const wanted = process.argv.length > 3 ? process.argv.slice(3) : ['parquet', 'site', 'url']

const queries = 300_000
const days = 487

/** A number from 0 on that depends on the row. */
const any = (seed: number, most: number) => `CAST(hash(i + ${seed}) % ${most} AS BIGINT)`

/** Rows of the same key come again: the export is not unique. */
const shared = `(DATE '2025-07-01' + CAST(${any(0, days)} AS INTEGER)) AS data_date, 'sc-domain:acme.com' AS site_url`
const isAnonymous = `${any(1, 10)} = 0`
const text = `CASE WHEN ${isAnonymous} THEN NULL
    ELSE 'standing desk number ' || CAST(floor(${queries} * pow(${any(2, 1_000_000)} / 1e6, 3)) AS INTEGER) END AS query,
  ${isAnonymous} AS is_anonymized_query`
const where = `['usa','gbr','deu','fra','can','aus','ind','esp'][1 + ${any(3, 8)}] AS country,
  CASE WHEN ${any(4, 50)} = 0 THEN 'IMAGE' ELSE 'WEB' END AS search_type, ['DESKTOP','MOBILE','TABLET'][1 + ${any(5, 3)}] AS device`
const counts = `${any(6, 40)} + 1 AS impressions, CASE WHEN ${any(7, 12)} = 0 THEN 1 ELSE 0 END AS clicks`
const sum = `(${any(6, 40)} + 1) * ${any(8, 30)}`
const flags =
  `is_amp_top_stories is_amp_blue_link is_job_listing is_job_details is_tpf_qa is_tpf_faq is_tpf_howto is_weblite is_action
  is_events_listing is_events_details is_forums is_search_appearance_android_app is_amp_story is_amp_image_result is_video
  is_organic_shopping is_review_snippet is_special_announcement is_recipe_feature is_recipe_rich_snippet is_subscribed_content
  is_page_experience is_practice_problems is_math_solvers is_translated_result is_edu_q_and_a is_product_snippets
  is_merchant_listings is_learning_videos`.split(/\s+/)

const site = `SELECT ${shared}, ${text}, ${where}, ${counts}, ${sum} AS sum_top_position FROM range(${rows}) t(i)`
const url = `SELECT ${shared}, 'https://www.acme.com/desks/page-' || ${any(9, 5_000)} AS url, ${text}, false AS is_anonymized_discover, ${where},
  ${flags.map((flag) => `false AS ${flag}`).join(', ')}, ${counts}, ${sum} AS sum_position FROM range(${rows}) t(i)`

const tables = {
  parquet: {
    query: site,
    file: 'site.parquet',
    form: 'FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 122880',
  },
  site: { query: site, file: 'site.csv', form: 'FORMAT csv, HEADER' },
  url: { query: url, file: 'url.csv', form: 'FORMAT csv, HEADER' },
}

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
try {
  print(machine())
  print(`${grouped(rows)} rows\n`)
  print('| table | file | seconds | rows/s | peak memory | database |\n| --- | --: | --: | --: | --: | --: |')
  for (const name of wanted) {
    const { query, file, form } = tables[name as keyof typeof tables]
    const path = join(folder, file)
    const instance = await DuckDBInstance.create(':memory:', {
      threads: '2',
      memory_limit: '1GB',
      temp_directory: folder,
    })
    const connection = await instance.connect()
    await connection.run('SET preserve_insertion_order = false')
    await connection.run(`COPY (${query}) TO '${path}' (${form})`)
    connection.closeSync()
    instance.closeSync()
    const db = join(folder, `${name}.db`)
    const { seconds, megabytes: peak } = await measured(['clicks', 'add', path, '--db', db])
    print(
      `| ${name} | ${megabytes((await stat(path)).size)} MB | ${seconds.toFixed(1)} | ${grouped(Math.round(rows / seconds / 1000) * 1000)} | ${grouped(Math.round(peak))} MB | ${megabytes((await stat(db)).size)} MB |`,
    )
    await rm(path)
    await rm(db)
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
