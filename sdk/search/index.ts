export * from './readings.ts'
export * from './regex.ts'
export * from './regex-automaton.ts'
export * from './text.ts'
