import { type CompressedBody, compress, decompress } from '../../store/compression.ts'

/** Packs data that holds keys of queries as JSON. */
export async function pack(data: unknown): Promise<CompressedBody> {
  const text = JSON.stringify(data, (_, value: unknown) =>
    isBytes(value) ? { $hex: Buffer.from(value.data).toString('hex') } : value,
  )
  return await compress(Buffer.from(text))
}

/** What was packed. */
export function unpack<T>(packed: CompressedBody): T {
  return JSON.parse(decompress(packed).toString(), (_, value: unknown) =>
    isHex(value) ? Buffer.from(value.$hex, 'hex') : value,
  )
}

/** A Buffer as JSON.stringify hands it over. */
function isBytes(value: unknown): value is { readonly data: readonly number[] } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === 'Buffer' &&
    'data' in value
  )
}

function isHex(value: unknown): value is { readonly $hex: string } {
  return typeof value === 'object' && value !== null && '$hex' in value
}
