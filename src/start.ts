#!/usr/bin/env node
import module from 'node:module'

// Node 22 keeps what it compiled for the next start. What is imported here would be compiled before.
const { enableCompileCache } = module as { readonly enableCompileCache?: () => void }
enableCompileCache?.()
await import('./cli.ts')
