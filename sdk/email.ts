import { Invalid } from './problem.ts'

/** The form in which email addresses are stored and looked up. */
export const plainEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase()

/** The stored form of an entered email address; `Invalid` when it is malformed. */
export const checkedEmail = (email: string): string => {
  const plain = plainEmail(email)
  if (plain.length > 320 || !/^[^\s@:\u0000-\u001f\u007f]+@[^\s@:\u0000-\u001f\u007f]+$/.test(plain))
    throw new Invalid('email must be an email address such as ada@example.org')
  return plain
}
