export * from './fixed-clock.ts'
export * from './silent-log.ts'
