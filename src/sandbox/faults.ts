import type { Operation } from '../catalog/operation.ts'
import type { Fault, FaultRule } from './options.ts'
import { hashText, mix, unit } from './world/hash.ts'

/** Tries rules in their order: delays add up, the first other fault decides. */
export function faultPlan(seed: string, initial: readonly FaultRule[]) {
  const salt = hashText(`faults of ${seed}`)
  const begin = (rule: FaultRule) => ({ rule, matched: 0, done: 0 })
  let plan = initial.map(begin)
  return {
    replace(rules: readonly FaultRule[]): void {
      plan = rules.map(begin)
    },
    add(rules: readonly FaultRule[]): void {
      plan.push(...rules.map(begin))
    },
    /** The fault of one call; the delay is added to its latency. */
    next(
      operation: Operation,
      query: string,
    ): { delayMs: number; fault: Exclude<Fault, { latency: number }> | null } {
      let delayMs = 0
      for (const [index, item] of plan.entries()) {
        if (!isMeant(item.rule, operation, query)) continue
        const chance = unit(mix(mix(salt, index), item.matched++))
        if (!isDue(item, chance)) continue
        item.done++
        if (!('latency' in item.rule.do)) return { delayMs, fault: item.rule.do }
        delayMs += item.rule.do.latency
      }
      return { delayMs, fault: null }
    },
  }
}

function isMeant(rule: FaultRule, operation: Operation, query: string): boolean {
  if (rule.operation === undefined ? !operation.billable : rule.operation !== operation.name) return false
  return rule.query === undefined || query.includes(rule.query)
}

function isDue(
  { rule, matched, done }: { rule: FaultRule; matched: number; done: number },
  chance: number,
): boolean {
  return matched > (rule.after ?? 0) && done < (rule.times ?? Infinity) && chance < (rule.probability ?? 1)
}
