import { siteOf } from '../../model/public-suffix.ts'

/** Whether a query names the site, for instance `acme desks` or `acmecom` for acme.com. */
export function isBrandWord(query: string, site: string): boolean {
  const name = (siteOf(site) ?? site).split('.')[0] ?? ''
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[\s\-_.]+/g, '')
  return name.length >= 3 && plain(query).includes(plain(name))
}
