import { type PasswordCost, usualPasswordCost } from '../../sdk/passwords.ts'

/** What a password costs outside of tests. */
export const recommendedCost: PasswordCost = { ...usualPasswordCost }

// Loaded before each test file. The cost of a password hash is meant for attackers: tests sign in hundreds of times. Servers in separate processes use the normal cost.
Object.assign(usualPasswordCost, { memoryKiB: 64, passes: 1 })
