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
          exclude: ['test/alone/**', 'test/long/**'],
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
      {
        // Kills and crowds of processes: each file needs the machine for itself.
        test: {
          ...common,
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 300_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
