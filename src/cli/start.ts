#!/usr/bin/env node
import module from 'node:module'

// Node 22 keeps what it compiled for the next start. What is imported here would be compiled before.
const { enableCompileCache } = module as { readonly enableCompileCache?: () => void }
enableCompileCache?.()
const [{ main }, { openTerminal }] = await Promise.all([import('./main.ts'), import('./terminal.ts')])
process.exitCode = await main(process.argv.slice(2), openTerminal())
