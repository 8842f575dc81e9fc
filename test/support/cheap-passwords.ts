import { type PasswordCost, usualPasswordCost } from '../../sdk/passwords.ts'

/** The password cost outside of tests. */
export const recommendedCost: PasswordCost = { ...usualPasswordCost }

// Loaded before each test file. Tests sign in hundreds of times, so password hashes are cheap in this process; servers in separate processes use the real
// cost.
Object.assign(usualPasswordCost, { memoryKiB: 64, passes: 1 })
