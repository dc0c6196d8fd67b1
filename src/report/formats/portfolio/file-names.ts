/** Names that Windows keeps for devices, whatever follows the dot. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)$/i
const longest = 80

/**
 * Names of files for the reports of jobs, which may have any name: letters, digits, `.`, `-` and `_` only, none twice, also where
 * upper and lower case are one.
 *
 * @param taken names that others have already
 */
export function fileNames(
  jobs: readonly string[],
  taken: readonly string[] = [],
): ReadonlyMap<string, string> {
  const used = new Set(taken.map((name) => name.toLowerCase()))
  const names = new Map<string, string>()
  for (const job of jobs) {
    const stem = safeStem(job)
    let name = `${stem}.html`
    for (let more = 2; used.has(name.toLowerCase()); more++) name = `${stem}-${more}.html`
    used.add(name.toLowerCase())
    names.set(job, name)
  }
  return names
}

function safeStem(job: string): string {
  const stem = job
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .replace(/^[.-]+|[.-]+$/g, '')
  const short = Array.from(stem)
    .slice(0, longest)
    .join('')
    .replace(/[.-]+$/, '')
  return short === '' || reserved.test(short.split('.')[0] as string)
    ? `job-${short}`.replace(/-$/, '')
    : short
}
