/** ISO 3166-1 codes: the countries with the widest reach first, all others by code. */
export const countryCodes = [
  ...words(`
    IN CN US ID BR NG PK BD RU JP MX PH EG DE TR VN GB IR FR TH IT KR ES ZA AR CO UA PL CA MY SA PE MA UZ
    DZ IQ VE AU KE NL RO KZ CL TW GH EC BE SE CZ PT GR HU AT CH AE IL HK DK FI NO SG IE NZ SK
  `),
  ...words(`
    AD AF AG AI AL AM AO AQ AS AW AX AZ BA BB BF BG BH BI BJ BL BM BN BO BQ BS BT BV BW BY BZ CC CD CF CG CI
    CK CM CR CU CV CW CX CY DJ DM DO EE EH ER ET FJ FK FM FO GA GD GE GF GG GI GL GM GN GP GQ GS GT GU GW GY
    HM HN HR HT IM IO IS JE JM JO KG KH KI KM KN KP KW KY LA LB LC LI LK LR LS LT LU LV LY MC MD ME MF MG MH
    MK ML MM MN MO MP MQ MR MS MT MU MV MW MZ NA NC NE NF NI NP NR NU OM PA PF PG PM PN PR PS PW PY QA RE RS
    RW SB SC SD SH SI SJ SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TJ TK TL TM TN TO TT TV TZ UG UM UY VA
    VC VG VI VU WF WS YE YT ZM ZW
  `),
]

/** ISO 639-1 codes, withdrawn codes that search engines still accept, and longer codes that they know. */
const languages = new Set(
  words(`
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et
    eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl
    km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj
    om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn
    to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    in iw ji jw mo xx
    ach bem ceb chr ckb crs fil gaa haw hmn kok kri loz lua mfe nso nyn pcm tum yue
  `),
)

/** With the code of Kosovo, which is not in the standard. */
const countries = new Set([...countryCodes.map((code) => code.toLowerCase()), 'xk'])

const meantCountries = new Map(Object.entries({ uk: 'gb', en: 'gb', ja: 'jp', el: 'gr', cs: 'cz', ko: 'kr' }))
const meantLanguages = new Map(
  Object.entries({
    jp: 'ja',
    cn: 'zh-CN',
    dk: 'da',
    cz: 'cs',
    us: 'en',
    gb: 'en',
    at: 'de',
    ua: 'uk',
    kp: 'ko',
  }),
)

/** What to do about two letters that are not a country; null for a country. */
export function countryProblem(code: string): string | null {
  return problem(code.toLowerCase(), countries, {
    meant: meantCountries,
    unknown: 'write the code of a country; find it with: rankline countries <name>',
  })
}

/** What to do about a code, with or without a region, that is not a language; null for a language. */
export function languageProblem(code: string): string | null {
  return problem((code.split('-')[0] ?? '').toLowerCase(), languages, {
    meant: meantLanguages,
    unknown: 'write the code of a language; find it with: rankline languages <name>',
  })
}

function problem(
  code: string,
  known: ReadonlySet<string>,
  { meant, unknown }: { readonly meant: ReadonlyMap<string, string>; readonly unknown: string },
): string | null {
  if (known.has(code)) return null
  return meant.has(code) ? `write ${meant.get(code)}` : unknown
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}
