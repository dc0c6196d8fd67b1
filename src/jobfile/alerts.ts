import * as z from 'zod'
import { queryConditions } from '../model/condition.ts'
import type { JobSettings } from '../model/job.ts'
import * as settings from '../model/job.ts'
import { type AlertKind, type AlertRule, alertKinds, ruleIdentity } from '../model/settings.ts'
import { closestMatch } from '../model/text.ts'
import { type InvalidValue, plainText, quoted, wholeNumber } from '../model/values.ts'
import { later, scalar, strict } from './issues.ts'
import type { Report, Source } from './source.ts'

type Limit = 'by' | 'top' | 'below'
type Need = 'must' | 'may'

const fitting: Readonly<
  Record<
    AlertKind,
    {
      readonly by?: Need
      readonly top?: Need
      readonly below?: Need
      /** It watches queries, so that some of them can be chosen, and an observation can be confirmed by the next ones. */
      readonly queries?: 'may'
    }
  >
> = {
  drop: { by: 'may', top: 'may', queries: 'may' },
  gain: { by: 'may', top: 'may', queries: 'may' },
  entered: { top: 'must', queries: 'may' },
  left: { by: 'may', top: 'must', queries: 'may' },
  lost: { by: 'may', top: 'may', queries: 'may' },
  'new-competitor': { top: 'must', queries: 'may' },
  'url-changed': { top: 'may', queries: 'may' },
  'citation-lost': { queries: 'may' },
  'citation-won': { queries: 'may' },
  coverage: { below: 'must' },
  'run-failed': {},
  'run-skipped': {},
  balance: { below: 'must' },
  'days-left': { below: 'must' },
  unexplained: {},
  suspect: {},
}

const examples: Readonly<Record<Limit, string>> = { by: 'by: 3', top: 'top: 10', below: 'below: 90' }

const confirmations = { read: wholeNumber(1, 3), json: { type: 'integer', minimum: 1, maximum: 3 } }

const word = later(() => scalar({ read: plainText, json: settings.text.json }))

/** A condition, as it was written. */
const condition = later(() =>
  scalar({
    read: (written) => {
      const text = plainText(written)
      const read = 'value' in text ? queryConditions.read(text.value, 'store') : text
      return 'value' in read ? text : read
    },
    json: { type: 'string' },
  }).optional(),
)

const written = later(() =>
  strict({
    when: scalar(settings.oneOf(alertKinds)).describe('What is told'),
    by: scalar(settings.positive)
      .optional()
      .describe(
        'Ranks that a drop or a gain has at least, 1 if not given; left and lost by fewer are told when two observations say it',
      ),
    top: scalar(settings.positive).optional().describe('The ranks that count: the first N'),
    below: scalar(settings.positive)
      .optional()
      .describe('The limit: coverage in percent, a balance in credits, days that the balance lasts'),
    for: strict({
      tags: z.array(word()).min(1).optional().describe('Only queries with one of these tags'),
      targets: z
        .array(word())
        .min(1)
        .optional()
        .describe('Only these targets, by site or label, competitors too; all own targets if not given'),
      where: condition().describe('Only queries of which this is true, such as "volume>1000 and tag=money"'),
    })
      .optional()
      .describe('The queries and targets that are watched; all if not given'),
    confirm: scalar(confirmations)
      .optional()
      .describe('So many of the last three observations must say it; 1 if not given'),
    to: z.array(word()).min(1).optional().describe('Channels of rankline.yaml; all of them if not given'),
  }),
)

type WrittenAlerts = z.output<ReturnType<typeof written>>

/** The list of alert rules of a job, each with its defaults. */
// A transformation, for it is left out after mistakes in the rules: a refinement would meet half of them.
const alertsSchema = later(() =>
  z.array(written().superRefine(checkFit).transform(ruleFrom)).transform(withoutRepeats),
)

type Context = z.core.$RefinementCtx

function mistake(context: Context, path: readonly PropertyKey[], message: string, fix: string): void {
  context.addIssue({ code: 'custom', input: undefined, path: [...path], message, params: { fix } })
}

/** Every key that does not go with what the rule watches, and every one that it lacks. */
function checkFit(one: WrittenAlerts, context: Context): void {
  const { when } = one
  const fit = fitting[when]
  const notFitting = (key: string): void =>
    mistake(context, [key], `does not go with 'when: ${when}'`, 'remove it')
  for (const key of ['by', 'top', 'below'] as const) {
    if (one[key] !== undefined && fit[key] === undefined) notFitting(key)
    if (one[key] === undefined && fit[key] === 'must')
      mistake(context, [], `'when: ${when}' has no ${key}`, `add its limit such as '${exampleOf(when, key)}'`)
  }
  for (const key of ['for', 'confirm'] as const)
    if (one[key] !== undefined && fit.queries === undefined) notFitting(key)
  if (when === 'new-competitor' && one.for?.targets !== undefined)
    mistake(
      context,
      ['for', 'targets'],
      `does not go with 'when: ${when}', which watches all other sites`,
      'remove it',
    )
  const { below } = one
  if (when === 'coverage' && below !== undefined && below > 100)
    mistake(context, ['below'], `cannot be ${quoted(String(below))}`, 'write a percentage from 1 to 100')
}

function exampleOf(when: AlertKind, key: Limit): string {
  if (when === 'balance') return 'below: 1000'
  return when === 'days-left' ? 'below: 7' : examples[key]
}

function ruleFrom({ when, by, top, below, for: only, confirm = 1, to }: WrittenAlerts): AlertRule {
  return {
    when,
    by: by ?? null,
    top: top ?? null,
    below: below ?? null,
    for: {
      tags: only?.tags ?? null,
      targets: only?.targets ?? null,
      ...(only?.where === undefined ? {} : { where: only.where }),
    },
    confirm,
    to: to ?? null,
  }
}

/** Two rules of one identity would share their alerts. */
function withoutRepeats(rules: readonly AlertRule[], context: Context): readonly AlertRule[] {
  const known = new Map<string, number>()
  for (const [index, one] of rules.entries()) {
    const identity = ruleIdentity(one)
    const first = known.get(identity)
    if (first === undefined) known.set(identity, index)
    else
      mistake(
        context,
        [index],
        `${index + 1} watches the same as alert ${first + 1}`,
        'keep one of them, and name all channels in its to:',
      )
  }
  return rules
}

/** Reports channels and targets that are named and not there: what is meant would never be told. */
function reportUnknownNames(
  { alerts, digest }: Pick<JobSettings, 'alerts' | 'digest'>,
  {
    channels,
    targets,
  }: {
    /** Channels of the folder; a folder without any is not set up yet. */
    readonly channels: readonly string[]
    /** Sites and labels of the job's targets; null where single queries may have others. */
    readonly targets: readonly string[] | null
  },
  at: Source['at'],
  report: Report,
): void {
  const check = (
    path: readonly PropertyKey[],
    names: readonly string[] | null,
    mistakeOf: (name: string) => InvalidValue | null,
  ): void => {
    for (const [index, name] of (names ?? []).entries()) {
      const mistake = mistakeOf(name)
      if (mistake !== null) report({ ...at([...path, index]), ...mistake })
    }
  }
  const channel = (name: string): InvalidValue | null =>
    channels.length === 0 ? null : unknownName('channel', name, channels, 'in rankline.yaml')
  const target = (name: string): InvalidValue | null =>
    targets === null ? null : unknownName('target', name, targets, 'in this job')
  for (const [index, rule] of (alerts ?? []).entries()) {
    check(['alerts', index, 'to'], rule.to, channel)
    check(['alerts', index, 'for', 'targets'], rule.for.targets, target)
  }
  check(['digest', 'to'], digest?.to ?? null, channel)
}

/** Why a name is a mistake, and what may have been meant; null for a known one. */
function unknownName(
  noun: string,
  name: string,
  known: readonly string[],
  where: string,
): InvalidValue | null {
  if (known.includes(name)) return null
  const near = closestMatch(name, known)
  const fix =
    near !== null
      ? `write '${near}'`
      : known.length === 0
        ? 'leave it out'
        : `write one of ${[...new Set(known)].join(', ')}`
  return { message: `there is no ${noun} ${quoted(name)} ${where}`, fix }
}

/** How alert rules of job files are read. */
export const alertReaders = {
  schema: alertsSchema,
  condition,
  reportUnknownNames,
  unknownName,
}
