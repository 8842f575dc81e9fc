/** A DN in one form, for comparing: directories do not mind case, nor blanks around `,` and `=`. */
export const plainDn = (dn: string): string =>
  dn
    .toLowerCase()
    .split(/([,=+])/)
    .map(part => part.trim())
    .join('')
