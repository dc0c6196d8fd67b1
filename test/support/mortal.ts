import type { Database } from 'better-sqlite3'
import type { openHttpClient } from '../../src/api/http.ts'
import type { Clock } from '../../src/model/time.ts'
import type { DiskSpace } from '../../src/store/journal.ts'
import type { groupCommit } from '../../src/store/sqlite/connection/group-commit.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import type { PlanDraft } from '../../src/store/sqlite/planning/draft.ts'
import type { Life } from './life.ts'

let current: Life | null = null

/** Whose life whatever is opened from here on belongs to. */
export function liveAs(life: Life | null): void {
  current = life
}

/** A writer whose commits are those of the life in which it was opened. */
export function mortalWriter(original: typeof groupCommit): typeof groupCommit {
  return (db, hooks) => {
    const life = current
    if (life === null) return original(db, hooks)
    const commits = {
      transaction: <Given extends readonly unknown[]>(change: (...given: Given) => unknown) => ({
        immediate: (...given: Given) => life.commit(db, () => change(...given)),
      }),
    }
    return original(commits as unknown as Database, hooks)
  }
}

/** A wire whose exchanges are those of the life in which it was opened. */
export function mortalWire(original: typeof openHttpClient): typeof openHttpClient {
  return (options) => {
    const wire = original(options)
    const life = current
    return life === null ? wire : { ...wire, exchange: life.exchange(wire) }
  }
}

/** A store that says nothing to the dead and does nothing for them. */
export function mortalStore(store: Store, life: Life): Store {
  // A small reserve does for small answers.
  const space: DiskSpace = { ...store.space, reserve: () => store.space.reserve(1) }
  return { ...mortal(store, life), space }
}

function mortal<T extends object>(target: T, life: Life): T {
  const members = Reflect.ownKeys(target).map((name) => {
    const member = target[name as keyof T]
    return [name, typeof member === 'function' ? mortalMethod(member as Method, life) : member]
  })
  return Object.fromEntries(members) as T
}

type Method = (...values: readonly unknown[]) => unknown

function mortalMethod(method: Method, life: Life): Method {
  return (...values) => {
    if (life.isDead()) return new Promise(() => {})
    const result = method(...values)
    if (!(result instanceof Promise)) return result
    return life.guard(result.then((value) => (isDraft(value) ? mortal(value, life) : value)))
  }
}

function isDraft(value: unknown): value is PlanDraft {
  return typeof value === 'object' && value !== null && 'commit' in value
}

/** Rings for the living only. */
export function mortalClock(clock: Clock, life: Life): Clock {
  return {
    ...clock,
    after: (ms, ring) =>
      clock.after(ms, () => {
        if (!life.isDead()) ring()
      }),
  }
}
