#!/usr/bin/env node
import module, { createRequire } from 'node:module'
import { compiledLoader } from './compiled.ts'

// Node 22 keeps what it compiled for the next start. What is imported here would be compiled before.
const { enableCompileCache } = module as { readonly enableCompileCache?: () => void }
enableCompileCache?.()
const load: (file: string) => unknown =
  enableCompileCache === undefined
    ? compiledLoader(import.meta.filename)
    : createRequire(import.meta.filename)
// A process that ends before its command does has failed.
process.exitCode = 1
start()

async function start(): Promise<void> {
  try {
    const { main } = load('./main.cjs') as typeof import('./main.ts')
    const { openTerminal } = load('./terminal.cjs') as typeof import('./terminal.ts')
    process.exitCode = await main(process.argv.slice(2), openTerminal())
  } catch (error) {
    // Not even the files of the program could be opened, so that no sentence of theirs is at hand.
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error
    process.stderr.write('rankline: This process may open no more files. Allow more with ulimit -n 1024.\n')
    process.exitCode = 6
  }
}
