import { addressMistake, type Post, poster } from '../api/post.ts'
import { commandEnvironment, namedSecret, proxyVariables, version } from './config.ts'

/** What messages and pings need of this machine. */
export interface Outgoing {
  /** The value of a variable that the workspace file names; undefined where it is not set. */
  readonly secret: (name: string) => string | undefined
  /** The environment of commands, without the API key. */
  readonly commandEnvironment: () => Readonly<Record<string, string | undefined>>
  readonly post: Post
  /** Why nothing is sent to an address, as a predicate; null where it may be used. */
  readonly addressMistake: (url: string) => string | null
  /** Whether passwords may go out in the clear. */
  readonly allowHttp: boolean
}

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
