import type { ChannelContext } from '../../alerts/channels/channel.ts'
import { addressMistake, type Post, poster } from '../../api/post.ts'
import { commandEnvironment, namedSecret, proxyVariables, version } from '../config.ts'

/** What messages and pings need of this machine. */
export type Outgoing = Omit<ChannelContext, 'folder' | 'now'>

/** @param allowHttp whether addresses may be asked in the clear that are not this machine */
export function outgoing(allowHttp: boolean): Outgoing {
  return {
    secret: namedSecret,
    commandEnvironment,
    post: lazyPost(allowHttp),
    addressMistake: (url) => addressMistake(url, { allowHttp }),
    allowHttp,
  }
}

/** Most runs post nothing. */
function lazyPost(allowHttp: boolean): Post {
  let post: Post | null = null
  return (request) => {
    post ??= poster({ proxies: proxyVariables(), userAgent: `rankline/${version}`, allowHttp })
    return post(request)
  }
}
