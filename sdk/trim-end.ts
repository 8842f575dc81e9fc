/** The text without the given characters at its end. A regular expression would backtrack at each of them and take quadratic time. */
export const trimEnd = (text: string, characters: string): string => {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1] as string)) end--
  return text.slice(0, end)
}
