import { memoized } from '../model/text.ts'

/** ISO 3166-1: three letters, then the two of the same country. */
const byThree = new Map(
  `
afg:af ala:ax alb:al dza:dz asm:as and:ad ago:ao aia:ai ata:aq atg:ag arg:ar arm:am abw:aw aus:au aut:at aze:az bhs:bs bhr:bh bgd:bd brb:bb
blr:by bel:be blz:bz ben:bj bmu:bm btn:bt bol:bo bes:bq bih:ba bwa:bw bvt:bv bra:br iot:io brn:bn bgr:bg bfa:bf bdi:bi cpv:cv khm:kh cmr:cm
can:ca cym:ky caf:cf tcd:td chl:cl chn:cn cxr:cx cck:cc col:co com:km cog:cg cod:cd cok:ck cri:cr civ:ci hrv:hr cub:cu cuw:cw cyp:cy cze:cz
dnk:dk dji:dj dma:dm dom:do ecu:ec egy:eg slv:sv gnq:gq eri:er est:ee swz:sz eth:et flk:fk fro:fo fji:fj fin:fi fra:fr guf:gf pyf:pf atf:tf
gab:ga gmb:gm geo:ge deu:de gha:gh gib:gi grc:gr grl:gl grd:gd glp:gp gum:gu gtm:gt ggy:gg gin:gn gnb:gw guy:gy hti:ht hmd:hm vat:va hnd:hn
hkg:hk hun:hu isl:is ind:in idn:id irn:ir irq:iq irl:ie imn:im isr:il ita:it jam:jm jpn:jp jey:je jor:jo kaz:kz ken:ke kir:ki prk:kp kor:kr
kwt:kw kgz:kg lao:la lva:lv lbn:lb lso:ls lbr:lr lby:ly lie:li ltu:lt lux:lu mac:mo mdg:mg mwi:mw mys:my mdv:mv mli:ml mlt:mt mhl:mh mtq:mq
mrt:mr mus:mu myt:yt mex:mx fsm:fm mda:md mco:mc mng:mn mne:me msr:ms mar:ma moz:mz mmr:mm nam:na nru:nr npl:np nld:nl ncl:nc nzl:nz nic:ni
ner:ne nga:ng niu:nu nfk:nf mkd:mk mnp:mp nor:no omn:om pak:pk plw:pw pse:ps pan:pa png:pg pry:py per:pe phl:ph pcn:pn pol:pl prt:pt pri:pr
qat:qa reu:re rou:ro rus:ru rwa:rw blm:bl shn:sh kna:kn lca:lc maf:mf spm:pm vct:vc wsm:ws smr:sm stp:st sau:sa sen:sn srb:rs syc:sc sle:sl
sgp:sg sxm:sx svk:sk svn:si slb:sb som:so zaf:za sgs:gs ssd:ss esp:es lka:lk sdn:sd sur:sr sjm:sj swe:se che:ch syr:sy twn:tw tjk:tj tza:tz
tha:th tls:tl tgo:tg tkl:tk ton:to tto:tt tun:tn tur:tr tkm:tm tca:tc tuv:tv uga:ug ukr:ua are:ae gbr:gb usa:us umi:um ury:uy uzb:uz vut:vu
ven:ve vnm:vn vgb:vg vir:vi wlf:wf esh:eh yem:ye zmb:zm zwe:zw xkk:xk
`
    .trim()
    .split(/\s+/)
    .map((pair) => pair.split(':') as [string, string]),
)

const byTwo = new Set(byThree.values())

/** What tools call a country beside its usual names. */
const otherNames = new Map(
  [
    'united states of america:us, united kingdom of great britain and northern ireland:gb, great britain:gb, the netherlands:nl, holland:nl',
    'czech republic:cz, turkey:tr, macedonia:mk, ivory coast:ci, hong kong:hk, macau:mo, myanmar:mm, russian federation:ru, viet nam:vn',
    'korea, republic of:kr, republic of korea:kr, republic of ireland:ie, uae:ae, slovak republic:sk, palestine:ps, swaziland:sz',
  ].flatMap((line) =>
    [...line.matchAll(/(.+?):([a-z]{2})(?:, |$)/g)].map(([, name = '', code = '']) => [name, code] as const),
  ),
)

/** English first: where a name is another country in another language, the English one counts. */
const languages = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'nl',
  'pl',
  'cs',
  'sv',
  'da',
  'nb',
  'fi',
  'hu',
  'ro',
  'tr',
  'el',
  'ru',
  'uk',
  'ja',
  'ko',
  'zh',
  'zh-Hant',
]

/** The code of a country that a file names by its code, of two letters or three, or by its name in a usual language; null where it is none. */
export const countryNamed = memoized((text): string | null => {
  const name = text.normalize('NFC').trim().toLowerCase()
  if (name === 'uk') return 'gb'
  if (byTwo.has(name)) return name
  const known = byThree.get(name) ?? otherNames.get(name)
  if (known !== undefined) return known
  for (const language of languages) {
    const code = countryNames(language).get(name)
    if (code !== undefined) return code
  }
  return null
})

/** As `countryNamed`; empty for all countries. */
export function countryOrAll(text: string): string | null {
  return /^(?:all(?: countries)?|worldwide|global)$/i.test(text) ? '' : countryNamed(text)
}

const countryNames = memoized((language): ReadonlyMap<string, string> => {
  const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' })
  const byName = new Map<string, string>()
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  for (const a of letters)
    for (const b of letters) {
      const code = `${a}${b}`.toUpperCase()
      // Codes of before lead to those of today, as DD to DE.
      const name = new Intl.Locale(`und-${code}`).region === code ? names.of(code) : undefined
      if (name !== undefined) byName.set(name.normalize('NFC').toLowerCase(), a + b)
    }
  return byName
})
