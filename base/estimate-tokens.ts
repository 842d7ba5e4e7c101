/** About how many tokens a text takes: one a character for Chinese, Japanese and Korean, a quarter for ASCII, a half for the rest. */
export function estimateTokens(text: string): number {
  let quarters = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    quarters += unit >= 0x2e80 ? 4 : unit >= 0x80 ? 2 : 1;
  }
  return Math.ceil(quarters / 4);
}
