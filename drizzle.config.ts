import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: ['./src/store/sqlite/schema.ts', './src/store/sqlite/unattended/schema.ts'],
  out: './src/store/sqlite/migrations',
})
