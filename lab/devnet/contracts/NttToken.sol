// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC20Burnable, ERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";

/// The token of an NttManager. A manager that burns tokens on this chain also mints them (INttToken.sol). DEVNET: the
/// deployer mints at will.
contract NttToken is ERC20Burnable {
    address private immutable owner = msg.sender;
    uint8 private immutable ownDecimals;
    address private minter;

    constructor(uint8 decimals_) ERC20("Devnet NTT token", "NTT") {
        ownDecimals = decimals_;
    }

    function decimals() public view override returns (uint8) {
        return ownDecimals;
    }

    function setMinter(address minter_) external {
        require(msg.sender == owner, "only the deployer sets the minter");
        minter = minter_;
    }

    function mint(address to, uint256 amount) external {
        require(msg.sender == owner || msg.sender == minter, "only the deployer and the minter mint");
        _mint(to, amount);
    }
}
