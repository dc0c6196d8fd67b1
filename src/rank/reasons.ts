/** What a verdict is about. */
export interface Facts {
  /** The target, as its address says it: the host, with port, path and query where they are looked at. */
  readonly target: string
  /** The host of the target. */
  readonly tracked: string
  /** The host of the page that the link leads to. */
  readonly host: string
}

interface Meaning {
  readonly matches: boolean
  /** No match, but one that a user would ask about. */
  readonly near: boolean
  /** What the page of the link is or does, after “it”. */
  readonly text: (facts: Facts) => string
}

function match(text: Meaning['text']): Meaning {
  return { matches: true, near: false, text }
}

function near(text: Meaning['text']): Meaning {
  return { matches: false, near: true, text }
}

function no(text: Meaning['text']): Meaning {
  return { matches: false, near: false, text }
}

/** Why a link belongs to a target or does not. */
export const reasons = {
  'in-domain': match(({ host, target }) =>
    host === target ? `is on ${target}` : `is on ${host}, which belongs to ${target}`,
  ),
  'on-host': match(({ target }) => `is on the host ${target}`),
  'below-path': match(({ target }) => `is ${target} or lies below it`),
  'same-page': match(({ target }) => `is the page ${target}`),
  'amp-variant': match(({ target }) => `is an AMP variant that counts as ${target}`),
  'mobile-variant': match(({ target }) => `is a mobile variant that counts as ${target}`),
  'amp-not-asked': near(({ target }) => `is an AMP variant of ${target}, which counts only with also: [amp]`),
  'mobile-not-asked': near(
    ({ target }) => `is a mobile variant of ${target}, which counts only with also: [mobile]`,
  ),
  'variants-not-asked': near(
    ({ target }) => `is a mobile AMP variant of ${target}, which counts only with also: [amp, mobile]`,
  ),
  'other-port': near(({ host, target }) => `is on ${host}, but on another port than ${target}`),
  'within-segment': near(
    ({ target }) => `has a path that begins like ${target} but goes on within the segment`,
  ),
  'other-path': near(({ host, target }) => `is on ${host}, but has another path than ${target}`),
  'other-query': near(({ target }) => `is ${target} with another query string`),
  'opaque-redirect': near(({ host }) => `is a redirect of ${host} that does not say whereto`),
  'same-site': near(
    ({ host, tracked }) => `is on ${host}, another host of the site that ${tracked} is part of`,
  ),
  'other-owner': near(
    ({ host, tracked }) =>
      `is on ${host}, which shares a public suffix with ${tracked} and belongs to others`,
  ),
  'other-suffix': near(
    ({ host, tracked }) => `is on ${host}, which has the name of ${tracked} under another suffix`,
  ),
  'name-within': near(({ host, tracked }) => `is on ${host}, which only contains the name of ${tracked}`),
  'only-mentioned': near(({ host, tracked }) => `is a page of ${host} whose address mentions ${tracked}`),
  'other-site': no(({ host, tracked }) => `is on ${host}, which has nothing to do with ${tracked}`),
  'no-page': no(() => 'is no address of a web page'),
  'no-site': no(() => 'is compared with a target that is no site'),
} as const satisfies Readonly<Record<string, Meaning>>

export type Reason = keyof typeof reasons
