/** The line of a job file that tracks these sites as competitors. */
export function competitorsLine(sites: readonly string[]): string {
  return `competitors: [${sites.map(yamlText).join(', ')}]`
}

/** A text in a YAML list: as it is if it is a plain host name, else in quotes. */
function yamlText(text: string): string {
  if (/^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)*\.([a-z]{2,}|xn--[a-z0-9-]+)$/.test(text)) return text
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
