import { UsageError } from '../errors.ts'
import { type RowOrder, rowOrders } from '../report/sort-rows.ts'
import { isScreen, type Terminal } from '../terminal.ts'
import { span } from '../words.ts'
import { chosenFormat } from './choices.ts'
import { type Form, type FormName, forms, metricsForms } from './report-forms.ts'
import type { MeasureFlags } from './report-measure.ts'

/** Ten years: a date stays a date. */
const mostSerpDays = 3_653

export interface FormFlags extends MeasureFlags {
  readonly format?: string
  readonly json?: boolean
  readonly out?: string
  readonly raw?: boolean
  readonly metrics?: boolean
  readonly sort?: string
  readonly serps?: string
}

export interface ExplainFlags extends FormFlags {
  readonly explain?: string
  readonly compare?: string
  readonly tag?: readonly string[]
  readonly target?: readonly string[]
}

/** The form that flags ask for. Throws a sentence where another flag has no meaning for it, or it cannot be shown. */
export function chosenForm(flags: FormFlags, terminal: Terminal): Form {
  const name = chosenFormat(flags, Object.keys(forms) as FormName[])
  const form: Form | undefined = flags.metrics === true ? metricsForms[name] : forms[name]
  if (form === undefined)
    throw new UsageError(
      `--metrics has no meaning for --format ${name}: figures alone are text, or JSON with --json`,
    )
  refuseMeaningless(flags, form, flags.metrics === true ? '--metrics' : `--format ${name}`)
  if (form.binary === true && flags.out === undefined && isScreen(terminal))
    throw new UsageError(`A terminal cannot show ${name}. Name a file with --out, or write into a pipe`)
  return form
}

function refuseMeaningless(flags: FormFlags, form: Form, named: string): void {
  const { ctr, absent, kind, sort, serps, raw } = flags
  const reasons = [
    ['--ctr', ctr !== undefined && form.measured !== true, 'which has ranks and no figures'],
    ['--absent', absent !== undefined && form.measured !== true, 'which has ranks and no figures'],
    ['--kind', kind !== undefined && form.measured !== true, 'which has ranks and no figures'],
    ['--sort', sort !== undefined && form.sorted !== true, 'which has no rows'],
    ['--serps', serps !== undefined && form.serps !== true, 'which has none; --format html has them'],
    ['--raw', raw === true && form.raw !== true, 'where nothing is ever run; it is for CSV'],
  ] as const
  const found = reasons.find(([, meaningless]) => meaningless)
  if (found !== undefined) throw new UsageError(`${found[0]} has no meaning for ${named}, ${found[2]}`)
}

/** How rows are to be sorted. */
export function rowOrder({ sort }: FormFlags): RowOrder {
  const order = sort === undefined ? rowOrders[0] : rowOrders.find((one) => one === sort)
  if (order !== undefined) return order
  throw new UsageError(`--sort cannot be '${sort}'; write one of ${rowOrders.join(', ')}`)
}

/** Days before the last one whose SERPs go along. */
export function serpDays({ serps }: FormFlags): number {
  if (serps === undefined) return 0
  const days = (span(serps, 'dw') ?? Number.NaN) / 86_400_000
  if (days <= mostSerpDays) return days
  throw new UsageError(`--serps cannot be '${serps}'; write days such as 7d, 4w or 30d`)
}

/** What says how ranks are compared, chosen or written has no meaning for one query's evidence. */
export function refuseBesideExplain(flags: ExplainFlags): void {
  if (flags.explain === undefined) return
  const { compare, raw, format, ctr, absent, kind, metrics, sort, serps, tag, target } = flags
  const others = { compare, raw, format, ctr, absent, kind, metrics, sort, serps, tag, target }
  const meaningless = Object.entries(others).find(([, value]) => value !== undefined)
  if (meaningless !== undefined)
    throw new UsageError(
      `--${meaningless[0]} has no meaning for --explain, which prints text, or JSON with --json`,
    )
}
