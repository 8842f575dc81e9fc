export * from './readings.ts'
export * from './regex.ts'
export * from './text.ts'
