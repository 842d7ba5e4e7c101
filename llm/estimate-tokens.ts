const wide = /[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]/gu;

/** A text's tokens when nobody counted them: about 4 characters each, a Chinese, Japanese or Korean character one. */
export function estimateTokens(text: string): number {
  const cjk = text.match(wide)?.length ?? 0;
  return Math.ceil(cjk + (text.length - cjk) / 4);
}
