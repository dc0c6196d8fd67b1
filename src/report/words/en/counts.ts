import { counted } from './formats.ts'

/** So many of something. */
export const counts = {
  keywords: (value: number) => counted(value, 'keyword'),
  targets: (value: number) => counted(value, 'target'),
  competitors: (value: number) => counted(value, 'competitor'),
  days: (value: number) => counted(value, 'day'),
  clicks: (value: number) => counted(value, 'click'),
}
