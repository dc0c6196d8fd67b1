import type { Shape } from './shape.ts'

/** The documented shapes of the answers of free lookups, typed out by hand. */

const balance = { used: 'integer', total: 'integer', remaining: 'integer', percent_used: 'number' } as const
const limit: Shape = { orNull: 'integer' }
const quota: Shape = { orNull: 'number' }

const pack: Shape = {
  fields: { id: 'text', title: 'text', purchased_at: 'date', ...balance, exhausted: 'boolean' },
}

const packs: Shape = {
  fields: {
    count: 'integer',
    exhausted_count: 'integer',
    all_exhausted: 'boolean',
    ...balance,
    current_index: 'integer',
    current: { orNull: pack },
    items: { list: pack },
  },
}

const usageFields: Readonly<Record<string, Shape>> = {
  remaining: 'integer',
  total_used: 'integer',
  renewal_date: 'date',
  period: { fields: { start: 'date', end: 'date' } },
  subscription: { fields: balance },
  credits: {
    fields: { given: 'integer', consumed: 'integer', remaining: 'integer', percent_used: 'number' },
  },
  rate_limit: { fields: { per_minute: limit, per_second: limit } },
  account: { fields: { name: 'text', slug: 'text' } },
  api_key: {
    fields: {
      alias: 'text',
      active: 'boolean',
      category: 'text',
      expires: { orNull: 'text' },
      quotas: { fields: { total: quota, daily: quota, weekly: quota, monthly: quota } },
    },
  },
}

/** The record of before there were packs. */
export const olderUsage: Shape = { fields: usageFields }

export const newerUsage: Shape = { fields: { ...usageFields, packs: { orNull: packs } } }

export const stats: Shape = {
  fields: {
    engine: 'text',
    path: { orNull: 'text' },
    health: { only: ['operational', 'degraded', 'down'] },
    success_rate: 'number',
    avg_response_time_ms: 'integer',
    window: { only: ['1h'] },
  },
}

export const countries: Shape = { list: { fields: { country_code: 'text', country_name: 'text' } } }
export const languages: Shape = { list: { fields: { language_code: 'text', language_name: 'text' } } }

export const failure: Shape = { fields: { error: 'text' } }
