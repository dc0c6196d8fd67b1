import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: [
    './src/store/sqlite/schema.ts',
    './src/store/sqlite/unattended/schema.ts',
    './src/store/sqlite/clicks/schema.ts',
    './src/store/sqlite/imports/schema.ts',
  ],
  out: './src/store/sqlite/migrations',
})
