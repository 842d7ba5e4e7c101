import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payable, total } from '../src/cart.mjs';

test('总价是单价乘数量之和', () => {
  assert.equal(
    total([
      { price: 1_250, count: 2 },
      { price: 300, count: 1 },
    ]),
    2_800,
  );
});

test('不到 100 元没有优惠', () => {
  assert.equal(payable([{ price: 9_999, count: 1 }]), 9_999);
});

test('正好 300 元减 40 元', () => {
  assert.equal(payable([{ price: 15_000, count: 2 }]), 26_000);
});
