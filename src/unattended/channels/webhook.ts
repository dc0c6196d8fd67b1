import type { Channel } from '../../model/settings/workspace.ts'
import { documentOf, notSet, type OpenChannel, postingTo } from './channel.ts'

/** A POST that is signed by the Standard Webhooks rules, where a secret is named. */
export const openWebhook: OpenChannel<Channel & { readonly type: 'webhook' }> = (
  { urlEnv, secretEnv },
  around,
) => {
  const secret = secretEnv === null ? null : (around.secret(secretEnv) ?? null)
  const unset = [urlEnv, ...(secretEnv === null ? [] : [secretEnv])].filter(
    (variable) => around.secret(variable) === undefined,
  )
  if (unset.length > 0) return { missing: notSet(unset) }
  if (secret !== null && !isSecret(secret))
    return {
      missing: `${secretEnv} is not a secret of the Standard Webhooks rules. Make one with: echo "whsec_$(openssl rand -base64 32)"`,
    }
  return postingTo(urlEnv, around, async (message) => {
    const body = JSON.stringify(documentOf(message))
    const sentAt = new Date(around.now())
    const headers = {
      'webhook-id': message.id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
    }
    if (secret === null) return { body, headers }
    const { Webhook } = await import('standardwebhooks')
    const signature = new Webhook(secret).sign(message.id, sentAt, body)
    return { body, headers: { ...headers, 'webhook-signature': signature } }
  })
}

/** Base64, with or without its prefix. */
function isSecret(text: string): boolean {
  return /^(?:whsec_)?(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/.test(
    text,
  )
}
