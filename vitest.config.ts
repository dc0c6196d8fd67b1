import { defineConfig } from 'vitest/config'

const common = { environment: 'node', pool: 'forks', testTimeout: 30_000 } as const

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: 'suite',
          include: ['test/**/*.test.ts'],
          exclude: ['test/alone/**'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        // What is judged by the clock of a server would be disturbed by tests beside it.
        test: {
          ...common,
          name: 'alone',
          include: ['test/alone/**/*.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
