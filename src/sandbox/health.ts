/** What the success rate (percent) of the last hour says of an engine. */
export function healthOf(successRate: number): 'operational' | 'degraded' | 'down' {
  if (successRate >= 90) return 'operational'
  return successRate >= 50 ? 'degraded' : 'down'
}
