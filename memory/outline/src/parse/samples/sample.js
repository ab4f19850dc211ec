'use strict';
const fs = require('fs');
import path from 'path';

// Adds two numbers. It never fails.
function add(a, b) { return a + b; }

const double = (x) => x * 2;
exports.run = function run(options) { return options; };
Shape.prototype.area = function () { return 0; };

class Shape extends Base {
  constructor(size) { super(size); }
  static of(size) { return new Shape(size); }
  #hidden() {}
  on = () => {};
}

const table = { start() {}, stop: function () {} };
function* numbers() { yield 1; }
