// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// The part of Wormhole's core contract that a receiver needs (IWormhole.sol).
interface ICore {
    struct Signature {
        bytes32 r;
        bytes32 s;
        uint8 v;
        uint8 guardianIndex;
    }

    struct VM {
        uint8 version;
        uint32 timestamp;
        uint32 nonce;
        uint16 emitterChainId;
        bytes32 emitterAddress;
        uint64 sequence;
        uint8 consistencyLevel;
        bytes payload;
        uint32 guardianSetIndex;
        Signature[] signatures;
        bytes32 hash;
    }

    function parseAndVerifyVM(bytes calldata vaa) external view returns (VM memory vm, bool valid, string memory reason);
}

/// Takes the signed messages of one emitter, each once, as an integrator's contract does (IVaaV1Receiver).
contract MessageReceiver {
    ICore private immutable core;
    uint16 private immutable emitterChain;
    bytes32 private immutable emitter;

    mapping(bytes32 digest => bool) public isReceived;
    uint256 public count;

    event Taken(address keeper, uint256 share, uint16 note);
    event Received(bytes32 indexed digest, address indexed by, uint256 value, bytes payload);

    constructor(ICore core_, uint16 emitterChain_, bytes32 emitter_) {
        core = core_;
        emitterChain = emitterChain_;
        emitter = emitter_;
    }

    /// Arguments that the message does not contain, as some integrators' functions have.
    function take(bytes calldata vaa, address keeper, uint256 share, uint16 note) external payable {
        require(keeper != address(0) && share <= 100 && note != 0, "wrong argument");
        emit Taken(keeper, share, note);
        receiveMessage(vaa);
    }

    function executeVAAv1(bytes calldata vaa) external payable {
        receiveMessage(vaa);
    }

    function receiveMessage(bytes calldata vaa) private {
        (ICore.VM memory vm, bool valid, string memory reason) = core.parseAndVerifyVM(vaa);
        require(valid, reason);
        require(vm.emitterChainId == emitterChain && vm.emitterAddress == emitter, "foreign emitter");
        require(!isReceived[vm.hash], "already received");
        isReceived[vm.hash] = true;
        count += 1;
        emit Received(vm.hash, msg.sender, msg.value, vm.payload);
    }
}
