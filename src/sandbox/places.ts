/** Language codes, by the number of people who use them, largest first. */
export const languageCodes = `
  en zh hi es fr ar bn pt ru ur id de ja mr te tr ta vi ko it ha th gu pl fa sw jv kn ml pa my uk uz su am ro
  nl or ps sd ne si az km kk el hu cs sv be bg he ca da fi sk no hr sr lt sl lv et sq hy ka mk bs is mn lo af
  zu xh ms ga cy eu gl eo
`
  .trim()
  .split(/\s+/)
