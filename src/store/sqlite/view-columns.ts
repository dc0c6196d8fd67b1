/** What is asked for, as columns of `rankings`: first what it is, then how it is watched. */
export function tracked(): string {
  return `r.job, q.text AS query, rt.label AS target, q.operation, ${asked('gl')} AS gl, ${asked('hl')} AS hl,
      ${asked('location')} AS location,
      (SELECT group_concat(value, ';') FROM json_each(rq.tags)) AS tags, r.date`
}

export function iso(column: string): string {
  return `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`
}

export function text(column: string): string {
  return `(SELECT text FROM texts WHERE id = ${column})`
}

export function asked(param: string): string {
  return `json_extract(q.params, '$.${param}')`
}
