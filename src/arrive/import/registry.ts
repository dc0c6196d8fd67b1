import { UsageError } from '../../model/errors.ts'
import { closestMatch } from '../../model/text.ts'
import type { ForeignFormat } from './format.ts'
import { ahrefsFormat, ahrefsOldFormat } from './formats/ahrefs.ts'
import { bisibilityFormat } from './formats/bisibility.ts'
import { mozFormat, webPositionFormat } from './formats/moz.ts'
import { openseoFormat } from './formats/openseo.ts'
import { semrushPositionsFormat, semrushTrackingFormat } from './formats/semrush.ts'
import { seoCommandCenterFormat } from './formats/seo-command-center.ts'
import { serpbearFormat } from './formats/serpbear.ts'
import { serposcopeFormat } from './formats/serposcope.ts'
import { serposcopeCsvFormat } from './formats/serposcope-csv.ts'
import { statFormat } from './formats/stat.ts'
import { tableFormat } from './formats/table.ts'
import type { ForeignFile } from './source.ts'

/** Every format; the first one that recognises a file reads it. */
export const formats: readonly ForeignFormat[] = [
  serpbearFormat,
  serposcopeFormat,
  serposcopeCsvFormat,
  openseoFormat,
  bisibilityFormat,
  seoCommandCenterFormat,
  semrushTrackingFormat,
  semrushPositionsFormat,
  ahrefsFormat,
  ahrefsOldFormat,
  statFormat,
  mozFormat,
  webPositionFormat,
  // Takes every table with names that it knows: after all others.
  tableFormat,
]

/** The format of that name. */
export function formatNamed(name: string): ForeignFormat {
  const found = formats.find((format) => format.name === name)
  if (found !== undefined) return found
  const names = formats.map((format) => format.name)
  const near = closestMatch(name, names)
  throw new UsageError(
    `There is no format '${name}'. ${near === null ? `Write one of ${names.join(', ')}` : `Did you mean ${near}?`}`,
  )
}

/** The format of a file, by what is in it; null where none knows it. */
export function formatOf(file: ForeignFile): ForeignFormat | null {
  return formats.find((format) => format.recognise(file)) ?? null
}
