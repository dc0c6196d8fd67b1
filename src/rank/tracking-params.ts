interface Tracking {
  readonly why: string
  /** Lower case; one that ends in `*` stands for all names that begin so. */
  readonly names: readonly string[]
}

/**
 * Query parameters that say how a visitor came and never which page it is. Names that some sites use for pages
 * (`ref`, `id`, `page`, `source`, `sa`, `ei`, `cid`) are not here, however often they only track.
 */
const tracking: readonly Tracking[] = [
  { why: 'campaign tags of web analytics', names: ['utm_*', 'mtm_*', 'pk_campaign', 'pk_kwd', 'pk_keyword'] },
  { why: 'older campaign tags of web analytics', names: ['pk_source', 'pk_medium', 'pk_content', 'pk_cid'] },
  { why: 'visitors handed over between domains by web analytics', names: ['_ga', '_gl', '_gac'] },
  { why: 'put on shopping results by a search engine', names: ['srsltid'] },
  { why: 'state of a page of search results', names: ['sca_esv', 'sca_upv', 'ved', 'usg', 'sxsrf'] },
  { why: 'typing in the search box', names: ['gs_lcp', 'gs_lcrp', 'gws_rd'] },
  {
    why: 'clicks on ads of search engines',
    names: ['gclid', 'gclsrc', 'gbraid', 'wbraid', 'dclid', 'msclkid'],
  },
  { why: 'more about clicks on ads of search engines', names: ['gad_source', 'gad_campaignid'] },
  { why: 'clicks on ads and results of another search engine', names: ['yclid', 'ysclid', '_openstat'] },
  { why: 'clicks in social networks', names: ['fbclid', 'igshid', 'igsh', 'ttclid', 'twclid', 'li_fat_id'] },
  { why: 'more clicks in social networks', names: ['epik', 'rdt_cid', 'sccid', 'ref_src'] },
  { why: 'clicks in content ads and affiliate networks', names: ['tblci', 'dicbo', 'irclickid'] },
  { why: 'readers of newsletters', names: ['mc_cid', 'mc_eid', 'mkt_tok', '_kx', 'vero_id'] },
  { why: 'more readers of newsletters', names: ['oly_enc_id', 'oly_anon_id'] },
  {
    why: 'contacts of a marketing suite',
    names: ['_hsenc', '_hsmi', '__hstc', '__hssc', '__hsfp', 'hsctatracking'],
  },
  { why: 'added by AMP caches', names: ['amp_js_v', 'amp_gsa', 'amp_r', 'usqp'] },
]

const names = tracking.flatMap((row) => row.names)
const exact: ReadonlySet<string> = new Set(names.filter((name) => !name.endsWith('*')))
const beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))

/** Says of a query parameter that it only tells how a visitor came. */
export function isTracking(name: string): boolean {
  const lower = name.toLowerCase()
  return exact.has(lower) || beginnings.some((beginning) => lower.startsWith(beginning))
}
