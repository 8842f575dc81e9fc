const special = /[\\*()\0]|[^\x20-\x7e]+/gu

/** RFC 4515, section 3: whatever is not a plain letter goes in as the bytes it has in UTF-8. */
const escaped = (value: string): string =>
  value.replace(special, letters => Array.from(Buffer.from(letters), byte => `\\${byte.toString(16).padStart(2, '0')}`).join(''))

/** A filter with a value in the place of `{name}`; whatever the value is, the filter keeps its form. */
export const fillFilter = (filter: string, name: string, value: string): string => filter.replaceAll(`{${name}}`, () => escaped(value))
