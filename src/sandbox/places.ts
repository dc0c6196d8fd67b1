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

/** Language codes, by the number of people who use them, largest first. */
export const languageCodes = words(`
  en zh hi es fr ar bn pt ru ur id de ja mr te tr ta vi ko it ha th gu pl fa sw jv kn ml pa my uk uz su am ro
  nl or ps sd ne si az km kk el hu cs sv be bg he ca da fi sk no hr sr lt sl lv et sq hy ka mk bs is mn lo af
  zu xh ms ga cy eu gl eo
`)

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}
